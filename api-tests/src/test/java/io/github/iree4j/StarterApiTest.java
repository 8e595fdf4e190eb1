package io.github.iree4j;

import java.nio.file.Path;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** The public types of the modules with Spring, without descriptors: of all packages. */
@ParameterizedClass
@ValueSource(strings = {"autoconfigure", "test-autoconfigure", "spring-ai-autoconfigure", "cluster"})
class StarterApiTest extends PublicApiTest {
    @Parameter
    String module = "";

    @Override
    Path folder() {
        return Path.of("..", module);
    }

    /** No test here: without a descriptor, every package counts as exported. */
    @Override
    void noPromisedTypeNeedsAMarkedType() {}
}
