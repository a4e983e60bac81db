"""What draws: lists with a cursor, bars of text, sliders."""
