"""Tests: what is wrong with this one, and what do I do?"""
