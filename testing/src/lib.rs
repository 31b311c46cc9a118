//! Pairs of parties, ideal functionalities and deviations for comity's tests.
