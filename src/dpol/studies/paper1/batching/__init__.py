"""The study of RW-AdaBatch: how much its batches amplify privacy, and what they cost."""
