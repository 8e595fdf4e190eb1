package io.github.iree4j.sample.search;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.ai.document.Document;
import org.springframework.ai.vectorstore.SearchRequest;
import org.springframework.ai.vectorstore.VectorStore;
import org.springframework.ai.vectorstore.filter.Filter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** A database as declared by Spring AI's starters, such as the starter of pgvector: by its own type, with this name. */
@AutoConfiguration
@ConditionalOnBooleanProperty("test.database")
final class DatabaseAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    Database vectorStore() {
        return new Database();
    }

    /** Outlives applications; a document replaces a document with the same id. */
    static final class Database implements VectorStore {
        static final Map<String, Document> ROWS = new ConcurrentHashMap<>();

        @Override
        public void add(List<Document> documents) {
            documents.forEach(each -> ROWS.put(each.getId(), each));
        }

        @Override
        public void delete(List<String> ids) {
            ids.forEach(ROWS::remove);
        }

        @Override
        public void delete(Filter.Expression filter) {
            throw new UnsupportedOperationException();
        }

        @Override
        public List<Document> similaritySearch(SearchRequest request) {
            return List.of();
        }
    }
}
