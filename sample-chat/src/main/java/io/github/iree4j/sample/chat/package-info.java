/** Conversations with a language model compiled by IREE, side by side. */
@NullMarked
package io.github.iree4j.sample.chat;

import org.jspecify.annotations.NullMarked;
