package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.github.iree4j.spring.metrics.IreeMeters;
import io.github.iree4j.spring.observation.DefaultInvocationObservationConvention;
import io.github.iree4j.spring.observation.IreeObservationDocumentation;
import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import java.io.IOException;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import tools.jackson.databind.ObjectMapper;

/**
 * The tables of {@code docs/configuration.md} and {@code docs/metrics.md} say what the code says. {@code -Diree4j.docs.update=true} writes
 * them anew.
 */
class ReferenceDocumentationTests {

    private static final Path DOCS = Path.of("../docs");
    private static final String BEGIN = "<!-- generated, see ReferenceDocumentationTests: begin -->\n";
    private static final String END = "<!-- generated: end -->\n";

    @Test
    void theTableOfPropertiesIsThatOfTheCode() throws IOException {
        List<Class<?>> roots = new ClassFileImporter()
                        .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                        .importPackages("io.github.iree4j.spring")
                        .stream()
                        .filter(type -> type.isAnnotatedWith(ConfigurationProperties.class))
                        .sorted(Comparator.comparing(JavaClass::getName))
                        .map(JavaClass::reflect)
                        .collect(Collectors.toCollection(ArrayList::new));
        assertThat(roots).isNotEmpty();
        List<String> rows = new ArrayList<>();
        for (Class<?> root : roots) {
            properties(root.getAnnotation(ConfigurationProperties.class).value(), root, rows);
        }
        rows.sort(Comparator.naturalOrder());
        check(
                "configuration.md",
                "| Property | Type | Default | Meaning |\n|---|---|---|---|\n" + String.join("", rows));
    }

    private static void properties(String prefix, Class<?> type, List<String> rows) throws IOException {
        Map<String, String> documentation = documentation(type);
        for (Parameter parameter : type.getDeclaredConstructors()[0].getParameters()) {
            String name = prefix + "." + dashed(parameter.getName());
            Type declared = parameter.getParameterizedType();
            Class<?> raw = parameter.getType();
            if (isOurRecord(raw)) {
                properties(name, raw, rows);
            } else if (declared instanceof ParameterizedType generic
                    && generic.getActualTypeArguments()[generic.getActualTypeArguments().length - 1]
                            instanceof Class<?> element
                    && isOurRecord(element)) {
                properties(name + (raw == Map.class ? ".<name>" : "[n]"), element, rows);
            } else {
                String description = documentation.get(parameter.getName());
                assertThat(description).as("documentation of " + name).isNotBlank();
                DefaultValue preset = parameter.getAnnotation(DefaultValue.class);
                rows.add("| `%s` | %s | %s | %s |\n"
                        .formatted(
                                name + (raw == Map.class ? ".<key>" : ""),
                                describe(declared, raw),
                                preset == null || preset.value().length == 0
                                        ? "–"
                                        : "`" + String.join(", ", preset.value()) + "`",
                                description));
            }
        }
    }

    private static boolean isOurRecord(Class<?> type) {
        return type.isRecord() && type.getName().startsWith("io.github.iree4j.");
    }

    private static String describe(Type declared, Class<?> raw) {
        if (raw.isEnum()) {
            return Arrays.stream(raw.getEnumConstants())
                    .map(constant -> "`"
                            + ((Enum<?>) constant)
                                    .name()
                                    .toLowerCase(Locale.ROOT)
                                    .replace('_', '-') + "`")
                    .collect(Collectors.joining(", "));
        }
        if (declared instanceof ParameterizedType generic) {
            Type last = generic.getActualTypeArguments()[generic.getActualTypeArguments().length - 1];
            Class<?> element = last instanceof Class<?> known ? known : List.class;
            return raw == Map.class ? describe(last, element) : "list";
        }
        return Map.<Class<?>, String>of(
                        boolean.class, "boolean",
                        int.class, "number",
                        long.class, "number",
                        Integer.class, "number",
                        String.class, "text",
                        List.class, "list",
                        Duration.class, "duration",
                        DataSize.class, "size")
                .getOrDefault(raw, raw.getSimpleName());
    }

    private static String dashed(String name) {
        return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    /** What the {@code @param} tags of a record say, from its source. */
    private static Map<String, String> documentation(Class<?> type) throws IOException {
        Class<?> outer = type;
        while (outer.getEnclosingClass() != null) {
            outer = outer.getEnclosingClass();
        }
        String source =
                Files.readString(Path.of("src/main/java", outer.getName().replace('.', '/') + ".java"));
        Matcher found = Pattern.compile(
                        "/\\*\\*((?:(?!\\*/).)*)\\*/\\s*(?:@\\w+(?:\\([^)]*\\))?\\s*)*(?:public )?record "
                                + type.getSimpleName() + "\\(",
                        Pattern.DOTALL)
                .matcher(source);
        assertThat(found.find()).as("Javadoc of " + type.getName()).isTrue();
        Map<String, String> documentation = new TreeMap<>();
        for (String tag : found.group(1).replaceAll("\\n\\s*\\* ?", "\n").split("@param ")) {
            String[] parts = tag.strip().split("\\s+", 2);
            if (parts.length == 2) {
                documentation.put(
                        parts[0],
                        parts[1].strip().replaceAll("\\s+", " ").replaceAll("(?<!\\w)'([^']+)'(?!\\w)", "`$1`"));
            }
        }
        return documentation;
    }

    @Test
    void theTableOfMetersIsThatOfTheCode() throws IOException {
        StringBuilder table = new StringBuilder(
                "| Meter | In Prometheus | Type | Unit | Tags | Meaning |\n|---|---|---|---|---|---|\n");
        for (IreeMeters meter : IreeMeters.values()) {
            table.append("| `%s` | `%s` | %s | %s | %s | %s |\n"
                    .formatted(
                            meter.getName(),
                            prometheus(meter),
                            meter.getType().name().toLowerCase(Locale.ROOT),
                            meter.getBaseUnit() == null ? "seconds" : meter.getBaseUnit(),
                            keys(meter.getKeyNames()),
                            meter.getDescription()));
        }
        IreeObservationDocumentation invocation = IreeObservationDocumentation.INVOCATION;
        table.append(
                "| `%s` | `iree_invocations_seconds` | observation: timer and span | seconds | %s; spans also %s | Calls of functions, waiting for fences and batches included. |\n"
                        .formatted(
                                DefaultInvocationObservationConvention.NAME,
                                keys(invocation.getLowCardinalityKeyNames()),
                                keys(invocation.getHighCardinalityKeyNames())));
        check("metrics.md", table.toString());
    }

    private static String keys(KeyName[] keys) {
        return keys.length == 0
                ? "–"
                : Arrays.stream(keys).map(key -> "`" + key.asString() + "`").collect(Collectors.joining(", "));
    }

    private static String prometheus(IreeMeters meter) {
        String name = meter.getName().replace('.', '_');
        if (meter.getType() == Meter.Type.TIMER) {
            return name + "_seconds";
        }
        String unit = "_" + meter.getBaseUnit();
        String withUnit = name.endsWith(unit) ? name : name + unit;
        return meter.getType() == Meter.Type.COUNTER ? withUnit + "_total" : withUnit;
    }

    @Test
    void theDashboardAsksForMetersThatThereAre() throws IOException {
        String dashboard = Files.readString(DOCS.resolve("grafana/iree4j.json"));
        List<String> known = new ArrayList<>(Arrays.stream(IreeMeters.values())
                .map(ReferenceDocumentationTests::prometheus)
                .toList());
        known.add("iree_invocations_seconds");
        Matcher used = Pattern.compile("\\biree_[a-z_]+").matcher(dashboard);
        List<String> names = new ArrayList<>();
        while (used.find()) {
            names.add(used.group().replaceAll("_(count|sum|bucket|max)$", ""));
        }
        assertThat(names).isNotEmpty();
        assertThat(known).containsAll(names);
        new ObjectMapper().readTree(dashboard);
    }

    private static void check(String file, String table) throws IOException {
        Path path = DOCS.resolve(file);
        String text = Files.readString(path);
        int begin = text.indexOf(BEGIN) + BEGIN.length();
        int end = text.indexOf(END);
        assertThat(end).as("markers in " + file).isGreaterThanOrEqualTo(begin);
        if (Boolean.getBoolean("iree4j.docs.update")) {
            Files.writeString(path, text.substring(0, begin) + table + text.substring(end));
            return;
        }
        assertThat(text.substring(begin, end))
                .as("%s; write it anew with -Diree4j.docs.update=true".formatted(file))
                .isEqualTo(table);
    }
}
