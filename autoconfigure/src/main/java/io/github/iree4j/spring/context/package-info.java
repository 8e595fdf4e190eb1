/** What belongs to a thread and should be there when its call ends on another: diagnostic context, observations, security. */
@NullMarked
package io.github.iree4j.spring.context;

import org.jspecify.annotations.NullMarked;
