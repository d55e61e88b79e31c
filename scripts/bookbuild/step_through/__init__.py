"""The page Step through: transformer.py as a program that runs in the browser."""
