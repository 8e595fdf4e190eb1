package io.github.iree4j.sample.search;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The {@code search.*} properties.
 *
 * @param documents Directory of the Markdown files to search, ending with a slash.
 * @param maxQueryLength Maximum number of characters of a query.
 */
@ConfigurationProperties("search")
record SearchProperties(
        @DefaultValue("classpath:static/documents/") String documents,
        @DefaultValue("300") int maxQueryLength) {}
