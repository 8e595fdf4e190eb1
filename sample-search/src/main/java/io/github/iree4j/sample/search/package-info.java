/** Semantic search over the documents of a project, with Spring AI on a program that IREE compiled. */
@NullMarked
package io.github.iree4j.sample.search;

import org.jspecify.annotations.NullMarked;
