from crowded_tables import unlucky

__all__ = ["unlucky"]
