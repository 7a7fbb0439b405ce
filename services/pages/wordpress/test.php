<?php
// Runs the plugin with the functions of WordPress that it calls, and prints what it shows. A test of pages calls this file.
// The argument is the text that an administrator typed in Settings › General.
define('ABSPATH', '/');
$hooks = [];
$typed = $argv[1];
$saved = [];
function add_action($name, $run) { global $hooks; $hooks[$name] = $run; }
function add_shortcode($name, $run) { global $hooks; $hooks['shortcode ' . $name] = $run; }
function register_block_type($name, $options) { global $hooks; $hooks['block ' . $name] = $options['render_callback']; }
function shortcode_atts($defaults, $given) { return array_merge($defaults, array_intersect_key($given, $defaults)); }
function register_setting($group, $name, $options) { global $typed, $saved; $saved[$name] = $options['sanitize_callback']($typed); }
function get_option($name, $default = false) { global $saved; return $saved[$name] ?? $default; }
function add_settings_field($id, $title, $show, $page) { if ($page === 'general') { $show(); echo "\n"; } }
function untrailingslashit($text) { return rtrim($text, '/'); }
function esc_url($text) { return htmlspecialchars($text, ENT_QUOTES); }
function esc_attr($text) { return htmlspecialchars($text, ENT_QUOTES); }
function esc_html($text) { return htmlspecialchars($text, ENT_QUOTES); }
require __DIR__ . '/slotmesh-booking.php';
$hooks['init']();
$hooks['admin_init']();
foreach (json_decode(file_get_contents('php://stdin'), true) as $attributes) {
    echo $hooks['shortcode slotmesh']($attributes), "\n";
}
echo $hooks['block slotmesh/booking'] === $hooks['shortcode slotmesh'] ? "same\n" : "other\n";
