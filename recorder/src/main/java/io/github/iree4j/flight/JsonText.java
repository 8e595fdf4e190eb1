package io.github.iree4j.flight;

import java.util.Collection;

/** Strings of JSON. */
final class JsonText {
    private JsonText() {}

    /** Appends a quoted string. */
    static void quote(String value, StringBuilder target) {
        target.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                target.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c) || c == 0x2028 || c == 0x2029) {
                target.append("\\u%04x".formatted((int) c));
            } else {
                target.append(c);
            }
        }
        target.append('"');
    }

    static void quote(Collection<String> values, StringBuilder target) {
        String separator = "[";
        for (String each : values) {
            target.append(separator);
            quote(each, target);
            separator = ",";
        }
        target.append(values.isEmpty() ? "[]" : "]");
    }
}
