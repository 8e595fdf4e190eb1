package io.github.iree4j.spring.autoconfigure;

import java.util.function.BiConsumer;

/**
 * Finds the properties in a file of configuration metadata, written by Spring Boot's annotation processor. A scan of
 * the text, since the first use of a JSON library costs an application a fifth of a second at start.
 */
final class ConfigurationMetadata {

    private static final int OF_SECTIONS = 1;
    private static final int OF_PROPERTIES = 3;

    private final String text;
    private int at;

    private ConfigurationMetadata(String text) {
        this.text = text;
    }

    /** Passes on name and type of each property, with an empty type for properties without a type. */
    static void properties(String metadata, BiConsumer<String, String> property) {
        new ConfigurationMetadata(metadata).scan(property);
    }

    private void scan(BiConsumer<String, String> property) {
        int depth = 0;
        String section = "";
        String key = "";
        String name = "";
        String type = "";
        for (; at < text.length(); at++) {
            switch (text.charAt(at)) {
                case '{', '[' -> {
                    depth++;
                    key = "";
                }
                case '}', ']' -> {
                    if (depth == OF_PROPERTIES) {
                        if (section.equals("properties") && !name.isEmpty()) {
                            property.accept(name, type);
                        }
                        name = "";
                        type = "";
                    }
                    depth--;
                }
                case ',' -> key = "";
                case '"' -> {
                    String string = string();
                    if (key.isEmpty()) {
                        key = string;
                        section = depth == OF_SECTIONS ? string : section;
                    } else if (depth == OF_PROPERTIES) {
                        name = key.equals("name") ? string : name;
                        type = key.equals("type") ? string : type;
                    }
                }
                default -> {}
            }
        }
    }

    /** Returns the string beginning here, with escapes unresolved: names and types have none. Ends at the string's last character. */
    private String string() {
        int start = ++at;
        while (at < text.length() && text.charAt(at) != '"') {
            at += text.charAt(at) == '\\' ? 2 : 1;
        }
        return text.substring(start, Math.min(at, text.length()));
    }
}
