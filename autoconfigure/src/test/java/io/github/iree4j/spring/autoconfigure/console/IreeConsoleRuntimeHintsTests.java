package io.github.iree4j.spring.autoconfigure.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

class IreeConsoleRuntimeHintsTests {

    @Test
    void everyFileOfTheConsoleIsAResource() throws Exception {
        RuntimeHints hints = new RuntimeHints();
        new IreeConsoleRuntimeHints().registerHints(hints, getClass().getClassLoader());
        List<String> files = Arrays.stream(
                        new PathMatchingResourcePatternResolver().getResources("classpath*:META-INF/iree-console/**"))
                .filter(Resource::isReadable)
                .map(file -> file.toString().replaceFirst("(?s).*(META-INF/iree-console/[^\\]]*).*", "$1"))
                .toList();
        assertThat(files).contains("META-INF/iree-console/index.html").hasSizeGreaterThan(3);
        assertThat(files)
                .allSatisfy(name -> assertThat(RuntimeHintsPredicates.resource().forResource(name))
                        .as(name)
                        .accepts(hints));
    }

    @Test
    void theHintsMatchTheConfiguration() {
        assertThat(AnnotatedElementUtils.findMergedAnnotation(
                        IreeConsoleAutoConfiguration.class, ImportRuntimeHints.class))
                .isNotNull()
                .satisfies(hints -> assertThat(hints.value()).contains(IreeConsoleRuntimeHints.class));
    }
}
