<?php
// Runs the plugin with the functions of WordPress that it calls, and prints what it shows. A test of pages calls this file.
define('ABSPATH', '/');
$hooks = [];
function add_action($name, $run) { global $hooks; $hooks[$name] = $run; }
function add_shortcode($name, $run) { global $hooks; $hooks['shortcode ' . $name] = $run; }
function register_block_type($name, $options) { global $hooks; $hooks['block ' . $name] = $options['render_callback']; }
function shortcode_atts($defaults, $given) { return array_merge($defaults, array_intersect_key($given, $defaults)); }
function untrailingslashit($text) { return rtrim($text, '/'); }
function esc_url($text) { return htmlspecialchars($text, ENT_QUOTES); }
function esc_attr($text) { return htmlspecialchars($text, ENT_QUOTES); }
function esc_html($text) { return htmlspecialchars($text, ENT_QUOTES); }
require __DIR__ . '/slotmesh-booking.php';
$hooks['init']();
foreach (json_decode(file_get_contents('php://stdin'), true) as $attributes) {
    echo $hooks['shortcode slotmesh']($attributes), "\n";
}
echo $hooks['block slotmesh/booking'] === $hooks['shortcode slotmesh'] ? "same\n" : "other\n";
