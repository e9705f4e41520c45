"""Running it every week: reports are collected into a log, decisions are replayed from it."""

from dpol_weekly.coordinator.game import Game as Game
