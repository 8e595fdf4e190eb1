package io.github.iree4j.spring.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.cluster.autoconfigure.IreeClusterProperties;
import java.io.IOException;
import java.lang.reflect.Parameter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.bind.Name;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The properties in {@code docs/cluster.md} match the configuration metadata, with a description of each. {@code
 * -Diree4j.docs.update=true} writes the table anew.
 */
class ReferenceDocumentationTests {

    private static final Path PAGE = Path.of("../docs/cluster.md");
    private static final Path METADATA = Path.of("target/classes/META-INF/spring-configuration-metadata.json");
    private static final String BEGIN = "<!-- generated, see ReferenceDocumentationTests: begin -->\n";
    private static final String END = "<!-- generated: end -->\n";

    private static final Map<String, String> TYPES = Map.of(
            "java.lang.Boolean", "boolean",
            "java.lang.Integer", "number",
            "java.lang.String", "text",
            "java.time.Duration", "duration",
            "org.springframework.util.unit.DataSize", "size");

    private static Map<String, JsonNode> metadata() throws IOException {
        Map<String, JsonNode> properties = new TreeMap<>();
        JsonMapper.shared()
                .readTree(Files.readString(METADATA))
                .required("properties")
                .forEach(each -> properties.put(each.required("name").stringValue(), each));
        return properties;
    }

    /** The properties of the records, with defaults; empty for none. */
    private static void properties(String prefix, Class<?> type, Map<String, List<String>> found) {
        for (Parameter each : type.getDeclaredConstructors()[0].getParameters()) {
            Name named = each.getAnnotation(Name.class);
            String name = prefix
                    + "."
                    + (named == null
                            ? each.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT)
                            : named.value());
            if (each.getType().isRecord()) {
                properties(name, each.getType(), found);
            } else {
                DefaultValue preset = each.getAnnotation(DefaultValue.class);
                found.put(name, preset == null ? List.of() : List.of(preset.value()));
            }
        }
    }

    @Test
    void metadataForTheBuildDescribesEveryProperty() throws IOException {
        Map<String, List<String>> declared = new TreeMap<>();
        properties("iree.cluster", IreeClusterProperties.class, declared);
        Map<String, JsonNode> packaged = metadata();
        assertThat(packaged.keySet()).containsExactlyElementsOf(declared.keySet());
        declared.forEach((name, values) -> {
            JsonNode property = packaged.get(name);
            assertThat(property.path("description").stringValue("")).as(name).endsWith(".");
            if (!values.isEmpty()) {
                assertThat(property.path("defaultValue").asString(""))
                        .as("default of %s", name)
                        .isEqualTo(values.getFirst());
            }
        });
    }

    @Test
    void tableOfPropertiesMatchesTheCode() throws IOException {
        StringBuilder table = new StringBuilder("| Property | Type | Default | Meaning |\n|---|---|---|---|\n");
        metadata().forEach((name, property) -> {
            String preset = property.path("defaultValue").asString("");
            table.append("| `%s` | %s | %s | %s |\n"
                    .formatted(
                            name,
                            type(property.required("type").stringValue()),
                            preset.isEmpty() ? "–" : "`" + preset + "`",
                            property.path("description")
                                    .stringValue("")
                                    .replaceAll("(?<!\\w)'([^']+)'(?!\\w)", "`$1`")));
        });
        String text = Files.readString(PAGE);
        int begin = text.indexOf(BEGIN) + BEGIN.length();
        int end = text.indexOf(END);
        assertThat(end).as("markers in " + PAGE).isGreaterThanOrEqualTo(begin);
        if (Boolean.getBoolean("iree4j.docs.update")) {
            Files.writeString(PAGE, text.substring(0, begin) + table + text.substring(end));
            return;
        }
        assertThat(text.substring(begin, end))
                .as("%s; update with -Diree4j.docs.update=true".formatted(PAGE))
                .isEqualTo(table.toString());
    }

    private static String type(String name) {
        if (name.startsWith("java.util.List")) {
            return "list";
        }
        String known = TYPES.get(name);
        if (known != null) {
            return known;
        }
        try {
            List<String> values = new ArrayList<>();
            for (Object each : Class.forName(name).getEnumConstants()) {
                values.add(
                        "`" + ((Enum<?>) each).name().toLowerCase(Locale.ROOT).replace('_', '-') + "`");
            }
            return String.join(", ", values);
        } catch (ClassNotFoundException e) {
            throw new AssertionError("unknown type " + name, e);
        }
    }
}
