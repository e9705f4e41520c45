"""RW-AdaBatch: how much privacy its batches amplify, and what they cost."""
