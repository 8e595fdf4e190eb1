package io.github.iree4j.sample.search;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/** Finds passages of documents by meaning. */
@SpringBootApplication
@ConfigurationPropertiesScan
class SearchApplication {

    public static void main(String[] arguments) {
        SpringApplication.run(SearchApplication.class, arguments);
    }
}
