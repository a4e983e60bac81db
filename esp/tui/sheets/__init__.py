"""What each part of the screen says: functions from the state and a width to lines with roles."""
