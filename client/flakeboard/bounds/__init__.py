"""`flakeboard bounds`: a random test is run with varied seeds; its assertions' values tell which bounds it can keep."""
