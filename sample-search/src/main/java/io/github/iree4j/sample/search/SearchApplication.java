package io.github.iree4j.sample.search;

import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.vectorstore.SimpleVectorStore;
import org.springframework.ai.vectorstore.VectorStore;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.context.annotation.Bean;

/** Finds passages of documents by meaning. */
@SpringBootApplication
@ConfigurationPropertiesScan
class SearchApplication {

    public static void main(String[] arguments) {
        SpringApplication.run(SearchApplication.class, arguments);
    }

    /** In memory; a Spring AI starter for a vector database replaces it. */
    @Bean
    @ConditionalOnMissingBean
    VectorStore vectorStore(EmbeddingModel model) {
        return SimpleVectorStore.builder(model).build();
    }
}
