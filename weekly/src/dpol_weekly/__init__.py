"""The weekly use of dpol: hospitals release noisy counts, a coordinator decides from them.

It imports `dpol` and is imported by nothing there: its commands reach the command `dpol` as an
entry point.
"""
