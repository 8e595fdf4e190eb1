package io.github.iree4j.spring.test;

import java.util.ArrayList;
import java.util.List;

/** Derives calling conventions from signatures. */
final class FakeSignature {
    private FakeSignature() {}

    /** For example {@code 0r_r} for {@code (tensor<4xf32>) -> tensor<4xf32>}. */
    static String convention(String signature) {
        int arrow = signature.indexOf("->");
        int end = signature.lastIndexOf(')', arrow);
        if (!signature.startsWith("(") || arrow < 0 || end < 0) {
            throw new IllegalArgumentException(
                    "signature '%s' is not of the form (tensor<4xf32>, i32) -> tensor<4xf32>".formatted(signature));
        }
        String arguments = signature.substring(1, end);
        String results = signature.substring(arrow + 2).strip();
        if (results.startsWith("(") && results.endsWith(")")) {
            results = results.substring(1, results.length() - 1);
        }
        return "0" + letters(arguments) + "_" + letters(results);
    }

    private static String letters(String values) {
        StringBuilder letters = new StringBuilder();
        for (String value : split(values)) {
            String type = value.substring(value.indexOf(':') + 1).strip();
            letters.append(
                    switch (type) {
                        case "i32" -> 'i';
                        case "i64" -> 'I';
                        case "f32" -> 'f';
                        case "f64" -> 'F';
                        default -> 'r';
                    });
        }
        return letters.isEmpty() ? "v" : letters.toString();
    }

    private static List<String> split(String values) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int start = 0;
        for (int i = 0; i <= values.length(); i++) {
            char c = i == values.length() ? ',' : values.charAt(i);
            depth += c == '<' ? 1 : c == '>' ? -1 : 0;
            if (c == ',' && (depth == 0 || i == values.length())) {
                String part = values.substring(start, i).strip();
                if (!part.isEmpty()) {
                    parts.add(part);
                }
                start = i + 1;
            }
        }
        return parts;
    }
}
