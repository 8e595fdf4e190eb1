/** Auto-configuration of a chat model, an embedding model, a reranker and a classifier on programs. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.ai.autoconfigure;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
