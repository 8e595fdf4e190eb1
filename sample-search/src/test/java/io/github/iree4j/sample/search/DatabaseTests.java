package io.github.iree4j.sample.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.sample.search.DatabaseAutoConfiguration.Database;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.vectorstore.VectorStore;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The application with a Spring AI starter for a database. */
@Timeout(300)
class DatabaseTests {

    @Test
    void theDatabaseReplacesTheStoreInMemoryAndHasEachPassageOnce(@TempDir Path documents) throws Exception {
        Files.writeString(documents.resolve("page.md"), "# Title\nOne.\n## Part\nOne.\n## Other\nTwo.\n");
        Set<String> first = indexed(documents);
        assertThat(first)
                .hasSize(3)
                .allSatisfy(id -> assertThat(UUID.fromString(id)).isNotNull());
        assertThat(indexed(documents)).as("after another start").isEqualTo(first);
    }

    private static Set<String> indexed(Path documents) throws InterruptedException {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(SearchApplication.class)
                .run("--server.port=0", "--test.database=true", "--search.documents=file:" + documents + "/")) {
            assertThat(context.getBean(VectorStore.class)).isInstanceOf(Database.class);
            context.getBean(Index.class).join();
            return Set.copyOf(Database.ROWS.keySet());
        }
    }
}
