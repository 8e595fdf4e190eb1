package io.github.iree4j.spring.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class HttpStatusesTests {

    @Test
    void everyStatusIsDocumentedWithItsAnswer() throws IOException {
        Map<Integer, String> rows = Arrays.stream(StatusCode.values())
                .filter(code -> code != StatusCode.OK && code != StatusCode.DEFERRED)
                .collect(Collectors.groupingBy(
                        code -> HttpStatuses.of(code).value(),
                        TreeMap::new,
                        Collectors.mapping(Enum::name, Collectors.joining(", "))));
        String documentation = Files.readString(Path.of("../docs/calls.md"));
        rows.forEach((answer, statuses) -> assertThat(documentation).contains("| %d | %s".formatted(answer, statuses)));
    }
}
