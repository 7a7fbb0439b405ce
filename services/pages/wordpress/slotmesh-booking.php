<?php
/**
 * Plugin Name: Slotmesh booking page
 * Description: Shows the booking page of a business in a page of WordPress: [slotmesh slug="harbor"]
 * Version: 1.0.0
 * Requires at least: 5.8
 * Requires PHP: 7.4
 * License: Apache-2.0
 */

if (!defined('ABSPATH')) {
    exit;
}

/** The attributes of embed.js that the shortcode and the block take, beside the site and the slug. */
const SLOTMESH_ATTRIBUTES = ['mode' => 'inline', 'title' => '', 'lang' => '', 'label' => '', 'color' => '', 'close' => ''];

/** Returns the URL of the booking pages without a final slash, or "" if the text is no such URL. */
function slotmesh_parse_site($text): string
{
    $site = untrailingslashit(trim((string) $text));
    return preg_match('#^https?://[A-Za-z0-9.-]+(:[0-9]+)?$#D', $site) ? $site : '';
}

/**
 * Returns the HTML of the booking page, or a comment for the editor if an attribute is invalid.
 *
 * The page runs a script from the site. Authors of posts may not add scripts, so only an administrator chooses the site,
 * in Settings › General. A `site` in the attributes must be the same.
 *
 * @param array|string $given the attributes of the shortcode or of the block
 */
function slotmesh_show($given): string
{
    $values = shortcode_atts(array_merge(['site' => '', 'slug' => ''], SLOTMESH_ATTRIBUTES), is_array($given) ? $given : []);
    $site = slotmesh_parse_site(get_option('slotmesh_site', ''));
    if ($site === '') {
        return '<!-- slotmesh: an administrator writes the address of the booking pages in Settings › General -->';
    }
    if ($values['site'] !== '' && slotmesh_parse_site($values['site']) !== $site) {
        return '<!-- slotmesh: leave site out, or write the same address as in Settings › General -->';
    }
    if (!preg_match('/^[a-z0-9-]{1,63}$/D', $values['slug'])) {
        return '<!-- slotmesh: write slug="name-of-the-business" -->';
    }
    if (!in_array($values['mode'], ['inline', 'popup', 'button'], true)) {
        $values['mode'] = 'inline';
    }
    $attributes = sprintf('src="%s" data-slug="%s"', esc_url($site . '/embed.js'), esc_attr($values['slug']));
    foreach (array_keys(SLOTMESH_ATTRIBUTES) as $name) {
        if ($values[$name] !== '') {
            $attributes .= sprintf(' data-%s="%s"', $name, esc_attr($values[$name]));
        }
    }
    $link = sprintf('<a href="%s">%s</a>', esc_url($site . '/b/' . $values['slug']), esc_html($values['label'] ?: 'Book'));
    return "<script $attributes></script><noscript>$link</noscript>";
}

add_action('init', function (): void {
    add_shortcode('slotmesh', 'slotmesh_show');
    $attributes = ['site' => ['type' => 'string', 'default' => ''], 'slug' => ['type' => 'string', 'default' => '']];
    foreach (SLOTMESH_ATTRIBUTES as $name => $default) {
        $attributes[$name] = ['type' => 'string', 'default' => $default];
    }
    register_block_type('slotmesh/booking', ['attributes' => $attributes, 'render_callback' => 'slotmesh_show']);
});

/** Adds the address of the booking pages to Settings › General, which only administrators can change. */
add_action('admin_init', function (): void {
    register_setting('general', 'slotmesh_site', ['type' => 'string', 'default' => '', 'sanitize_callback' => 'slotmesh_parse_site']);
    add_settings_field('slotmesh_site', 'Slotmesh booking pages', function (): void {
        printf(
            '<input type="url" class="regular-text" id="slotmesh_site" name="slotmesh_site" value="%s" placeholder="https://book.example.com">',
            esc_attr(get_option('slotmesh_site', ''))
        );
    }, 'general', 'default', ['label_for' => 'slotmesh_site']);
});

/** Registers the block in the editor with one field. */
add_action('enqueue_block_editor_assets', function (): void {
    wp_register_script('slotmesh-block', '', ['wp-blocks', 'wp-element', 'wp-components', 'wp-block-editor'], '1.0.0', true);
    wp_enqueue_script('slotmesh-block');
    wp_add_inline_script('slotmesh-block', <<<'JS'
(({ blocks, element: { createElement: h }, components: { TextControl, Placeholder }, blockEditor: { useBlockProps } }) => {
  const field = (props, name, label, help) => h(TextControl, { label, help, value: props.attributes[name], onChange: (value) => props.setAttributes({ [name]: value }) });
  blocks.registerBlockType('slotmesh/booking', {
    apiVersion: 2, title: 'Slotmesh booking page', icon: 'calendar-alt', category: 'embed',
    attributes: { site: { type: 'string', default: '' }, slug: { type: 'string', default: '' } },
    edit: (props) => h('div', useBlockProps(), h(Placeholder, { icon: 'calendar-alt', label: 'Slotmesh booking page' },
      field(props, 'slug', 'Business', 'The name of the business in addresses, such as harbor'))),
    save: () => null,
  });
})(window.wp);
JS
    );
});
