-- Refreshes run with the rights of the view's definer: the user who migrates, also where another one made the view.
ALTER TABLE fill_windows_1s MODIFY SQL SECURITY DEFINER DEFINER = CURRENT_USER;

ALTER TABLE fill_windows_10s MODIFY SQL SECURITY DEFINER DEFINER = CURRENT_USER;

ALTER TABLE fill_windows_1m MODIFY SQL SECURITY DEFINER DEFINER = CURRENT_USER;
