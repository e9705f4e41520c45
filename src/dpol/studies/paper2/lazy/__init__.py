"""The study of L2P for experts: its regret and its competitors', on synthetic losses."""
