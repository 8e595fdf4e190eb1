/** Semantic search over the documents of a project, with Spring AI on a program compiled by IREE. */
@NullMarked
package io.github.iree4j.sample.search;

import org.jspecify.annotations.NullMarked;
