"""Runs: why is this build red?"""
