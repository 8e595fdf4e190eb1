package io.github.iree4j.lab;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The scenarios supplied with the runtime, as files beside this class. */
final class BuiltinScenarios {
    private BuiltinScenarios() {}

    private static final class Loaded {
        private static final List<Scenario> ALL = text("index.txt")
                .lines()
                .filter(line -> !line.isBlank())
                .map(line -> ScenarioReader.read(text(line.strip() + ".yaml")))
                .toList();
    }

    static List<Scenario> all() {
        return Loaded.ALL;
    }

    static Scenario find(String id) {
        return all().stream()
                .filter(each -> each.id().equals(id))
                .findFirst()
                .orElseThrow(() -> IreeException.of(
                        StatusCode.NOT_FOUND,
                        "there is no scenario '%.60s'; there are %s"
                                .formatted(
                                        id,
                                        String.join(
                                                ", ",
                                                all().stream().map(Scenario::id).toList()))));
    }

    private static String text(String name) {
        try (InputStream in = BuiltinScenarios.class.getResourceAsStream("scenarios/" + name)) {
            if (in == null) {
                throw new IllegalStateException("resource 'scenarios/" + name + "' is missing");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
