package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.json.JsonParserFactory;

class ConfigurationMetadataTests {

    private static Map<String, String> scanned(String metadata) {
        Map<String, String> found = new TreeMap<>();
        ConfigurationMetadata.properties(metadata, found::put);
        return found;
    }

    /** The metadata of all jars of the class path, Spring Boot's included. */
    @Test
    void propertiesMatchAJsonParser() throws IOException {
        int files = 0;
        for (URL each : Collections.list(
                getClass().getClassLoader().getResources("META-INF/spring-configuration-metadata.json"))) {
            String metadata;
            try (InputStream in = each.openStream()) {
                metadata = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            }
            Map<String, String> parsed = new TreeMap<>();
            for (Object property : (List<?>)
                    JsonParserFactory.getJsonParser().parseMap(metadata).getOrDefault("properties", List.of())) {
                Map<?, ?> entry = (Map<?, ?>) property;
                parsed.put((String) entry.get("name"), entry.get("type") == null ? "" : (String) entry.get("type"));
            }
            assertThat(scanned(metadata)).as(each.toString()).isEqualTo(parsed);
            files++;
        }
        assertThat(files).isGreaterThan(5);
    }

    @Test
    void groupsHintsAndNestedNamesAreNotProperties() {
        assertThat(scanned("""
                {"groups": [{"name": "a", "type": "A"}],
                 "properties": [
                   {"type": "java.lang.String", "name": "a.b", "description": "\\"name\\": [{ \\\\", "defaultValue": ["x", "y"],
                    "deprecation": {"name": "inner"}},
                   {"name": "a.c"}],
                 "hints": [{"name": "a.d", "values": [{"value": "name"}]}]}
                """)).containsExactly(Map.entry("a.b", "java.lang.String"), Map.entry("a.c", ""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "\"", "\"\\", "}}}]", "{\"properties\": [{\"name\": \"a", "null"})
    void damagedMetadataHasNone(String metadata) {
        assertThat(scanned(metadata)).isEmpty();
    }
}
