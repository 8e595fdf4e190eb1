package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.util.Properties;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What DevTools leaves where it is when it restarts an application. */
class DevToolsTests {

    @Test
    void whatLoadsTheNativeLibraryIsNotRestarted() throws Exception {
        Properties properties = new Properties();
        try (InputStream in = getClass().getResourceAsStream("/META-INF/spring-devtools.properties")) {
            properties.load(in);
        }
        Pattern kept = Pattern.compile(properties.getProperty("restart.exclude.iree4j"));
        assertThat(kept.matcher("file:/home/me/iree4j/runtime-core/target/classes/")
                        .find())
                .isTrue();
        assertThat(kept.matcher("file:/home/me/iree4j/native-shim/target/classes/")
                        .find())
                .isTrue();
        assertThat(kept.matcher("file:/home/me/iree4j/sample-app/target/classes/")
                        .find())
                .isFalse();
    }
}
