/** Claims about how calls of programs are made: whose turn it is. */
package io.github.iree4j.call;
