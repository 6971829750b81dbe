"""The frame of the dashboard: pages, viewers, templates and assets."""
