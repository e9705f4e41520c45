"""The study of RW-AdaBatch: how much its batches amplify privacy, and their cost."""
