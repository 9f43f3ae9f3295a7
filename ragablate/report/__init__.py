"""What people read: the terminal and the reports of a bundle."""
