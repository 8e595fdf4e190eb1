package io.github.iree4j.spring.console;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;

/**
 * A file of the console.
 *
 * @param type media type
 * @param tag entity tag: a hash of the content, since files of a jar have no useful time
 * @param content the bytes; not to be changed
 */
record ConsoleFile(String type, String tag, byte[] content) {

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html;charset=UTF-8",
            "css", "text/css;charset=UTF-8",
            "js", "text/javascript;charset=UTF-8",
            "json", "application/json",
            "svg", "image/svg+xml");

    static ConsoleFile of(String name, byte[] content) {
        String type = TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), "text/plain;charset=UTF-8");
        return new ConsoleFile(type, '"' + hash(content) + '"', content);
    }

    static ConsoleFile of(String name, String content) {
        return of(name, content.getBytes(StandardCharsets.UTF_8));
    }

    private static String hash(byte[] content) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content), 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // available in every Java
        }
    }
}
