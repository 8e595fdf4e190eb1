package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.core.io.ClassPathResource;

/**
 * The page for operators explains each line of the production profile, with the profile's values, and no other lines;
 * examples are for this profile.
 */
class ProductionPageTests {
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    /** Code of the first column of a row: a property, the end of a name, or a group of properties, with a value or without. */
    private record Mention(String name, @Nullable String value) {
        static Mention of(String code) {
            String[] parts = code.split(": ", 2);
            return new Mention(parts[0], parts.length == 1 ? null : parts[1]);
        }

        boolean isOf(String property, String set) {
            int gap = name.indexOf('…');
            boolean named = gap < 0
                    ? ("." + property).endsWith("." + name)
                    : property.startsWith(name.substring(0, gap)) && property.contains(name.substring(gap + 1));
            return named && (value == null || value.equals(set));
        }
    }

    private static Map<String, String> properties() {
        YamlPropertiesFactoryBean yaml = new YamlPropertiesFactoryBean();
        yaml.setResources(new ClassPathResource("application-production.yaml"));
        Map<String, String> properties = new TreeMap<>();
        yaml.getObject().forEach((name, value) -> properties.put(name.toString(), value.toString()));
        return properties;
    }

    @Test
    void examplesAskActuatorOnThePortOfTheProfile() throws IOException {
        String port = properties().get("management.server.port");
        assertThat(Pattern.compile("localhost:(\\d+)/actuator").matcher(page()).results())
                .isNotEmpty()
                .allSatisfy(example ->
                        assertThat(example.group(1)).as(example.group()).isEqualTo(port));
    }

    @Test
    void eachLineOfTheProfileIsExplained() throws IOException {
        Map<String, String> properties = properties();
        List<Mention> mentions = mentions();
        assertThat(properties.entrySet())
                .hasSizeGreaterThan(20)
                .allSatisfy(each -> assertThat(mentions)
                        .as("%s: %s", each.getKey(), each.getValue())
                        .anyMatch(mention -> mention.isOf(each.getKey(), each.getValue())));
        assertThat(mentions)
                .allSatisfy(mention -> assertThat(properties.entrySet())
                        .as(mention.toString())
                        .anyMatch(each -> mention.isOf(each.getKey(), each.getValue())));
    }

    private static String page() throws IOException {
        return Files.readString(Path.of("../docs/operations.md"));
    }

    private static List<Mention> mentions() throws IOException {
        String page = page();
        String section = page.substring(page.indexOf("\n## In production\n"));
        List<Mention> mentions = new ArrayList<>();
        for (String row : section.substring(section.indexOf("|---|"), section.indexOf("\nBeyond this file"))
                .split("\n")) {
            if (row.startsWith("| `")) {
                Matcher code = CODE.matcher(row.substring(0, row.indexOf(" | ")));
                while (code.find()) {
                    mentions.add(Mention.of(code.group(1)));
                }
            }
        }
        return mentions;
    }
}
