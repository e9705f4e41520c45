"""The holder's side, `dpol privatize`: add noise to counts before anybody else sees them."""
