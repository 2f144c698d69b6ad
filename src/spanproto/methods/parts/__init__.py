"""What several methods are made of; each part exists once, pure and for many episodes at a time."""
