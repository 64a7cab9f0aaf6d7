"""What does a rule of one's own do, and what was declared for it?"""
