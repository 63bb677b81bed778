"""May this red build pass?"""
