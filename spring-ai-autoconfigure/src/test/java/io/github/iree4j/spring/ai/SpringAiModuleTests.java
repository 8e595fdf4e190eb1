package io.github.iree4j.spring.ai;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.context.annotation.Bean;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The module follows the structure of the others, and its registrations are complete. */
class SpringAiModuleTests {

    private static final Path CLASSES = Path.of("target/classes");
    private static final Path PAGE = Path.of("../docs/spring-ai.md");
    private static final String BEGIN = "<!-- generated, see SpringAiModuleTests: begin -->\n";
    private static final String END = "<!-- generated: end -->\n";

    private static JavaClasses main;

    @BeforeAll
    static void importClasses() {
        main = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPath(CLASSES);
    }

    @Test
    void everyPackageIsNullMarked() {
        assertThat(main.stream().map(JavaClass::getPackage).filter(each -> !each.isAnnotatedWith(NullMarked.class)))
                .isEmpty();
    }

    @Test
    void autoConfigurationsAreListedPublicAndFinal() throws IOException {
        classes()
                .that()
                .areAnnotatedWith(AutoConfiguration.class)
                .should()
                .bePublic()
                .andShould()
                .haveModifier(JavaModifier.FINAL)
                .check(main);
        assertThat(Files.readAllLines(
                        CLASSES.resolve("META-INF/spring/" + AutoConfiguration.class.getName() + ".imports")))
                .containsExactlyInAnyOrderElementsOf(main.stream()
                        .filter(each -> each.isAnnotatedWith(AutoConfiguration.class))
                        .map(JavaClass::getName)
                        .toList());
    }

    @Test
    void beanMethodsArePackagePrivateAndBackOff() {
        methods()
                .that()
                .areAnnotatedWith(Bean.class)
                .should()
                .bePackagePrivate()
                .andShould()
                .beAnnotatedWith(ConditionalOnMissingBean.class)
                .check(main);
    }

    @Test
    void failureAnalyzersAreRegistered() throws IOException {
        String registered = Files.readString(CLASSES.resolve("META-INF/spring.factories"));
        assertThat(main.stream().filter(each -> each.isAssignableTo(FailureAnalyzer.class)))
                .isNotEmpty()
                .allSatisfy(each -> assertThat(registered).contains(each.getName()));
    }

    @Test
    void packagesAreFreeOfCycles() {
        slices().matching("(io.github.iree4j.spring.ai..)")
                .should()
                .beFreeOfCycles()
                .check(main);
    }

    @Test
    void plainClassesDoNotDependOnAutoConfiguration() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "io.github.iree4j.spring.ai",
                        "io.github.iree4j.spring.ai.encoder",
                        "io.github.iree4j.spring.ai.openai")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.github.iree4j.spring.ai.autoconfigure..",
                        "io.github.iree4j.spring.autoconfigure..",
                        "org.springframework.boot..")
                .check(main);
    }

    /**
     * Spring Boot's processor generates the metadata from the code. {@code -Diree4j.docs.update=true} regenerates the
     * table.
     */
    @Test
    void tableOfPropertiesMatchesTheCode() throws IOException {
        JsonNode metadata = JsonMapper.shared()
                .readTree(Files.readString(CLASSES.resolve("META-INF/spring-configuration-metadata.json")));
        List<String> rows = new ArrayList<>();
        for (JsonNode property : metadata.required("properties")) {
            rows.add("| `%s` | %s | %s | %s |\n"
                    .formatted(
                            property.required("name").stringValue(),
                            type(property.required("type").stringValue()),
                            value(property.path("defaultValue")),
                            property.required("description")
                                    .stringValue()
                                    .replaceAll("(?<!\\w)'([^']+)'(?!\\w)", "`$1`")));
        }
        String table = "| Property | Type | Default | Meaning |\n|---|---|---|---|\n"
                + rows.stream().sorted().collect(Collectors.joining());
        String page = Files.readString(PAGE);
        int begin = page.indexOf(BEGIN) + BEGIN.length();
        int end = page.indexOf(END);
        assertThat(end).isGreaterThanOrEqualTo(begin);
        if (Boolean.getBoolean("iree4j.docs.update")) {
            Files.writeString(PAGE, page.substring(0, begin) + table + page.substring(end));
            return;
        }
        assertThat(page.substring(begin, end))
                .as("%s; regenerate it with -Diree4j.docs.update=true", PAGE)
                .isEqualTo(table);
    }

    private static String type(String name) throws IOException {
        String simple = name.replaceAll("<.*", "");
        if (simple.endsWith("List")) {
            return "list";
        }
        Map<String, String> known = Map.of(
                "java.lang.Boolean", "boolean",
                "java.lang.Double", "number",
                "java.lang.Integer", "number",
                "java.lang.Long", "number",
                "java.lang.String", "text",
                "java.time.Duration", "duration",
                "org.springframework.core.io.Resource", "location");
        if (known.containsKey(simple)) {
            return known.get(simple);
        }
        try {
            List<String> constants = new ArrayList<>();
            for (Object constant : Class.forName(simple).getEnumConstants()) {
                constants.add("`"
                        + ((Enum<?>) constant).name().toLowerCase(Locale.ROOT).replace('_', '-') + "`");
            }
            return String.join(", ", constants);
        } catch (ClassNotFoundException e) {
            throw new IOException(e);
        }
    }

    private static String value(JsonNode value) {
        if (value.isMissingNode() || value.isArray() && value.isEmpty()) {
            return "–";
        }
        return "`" + value.asString() + "`";
    }
}
