"""Running a deployment week by week."""
