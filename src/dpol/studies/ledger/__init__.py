"""What the papers state and what is played, checked: claims and audits."""
