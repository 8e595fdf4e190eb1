/**
 * The choice of a token: rules for logits, constraints on the text, and the probabilities of chosen tokens.
 *
 * <p>A {@link io.github.iree4j.generation.sampling.Sampler} chooses the tokens of a sequence. A {@link
 * io.github.iree4j.generation.sampling.TokenConstraint} is an automaton over bytes, made of a regular expression or a JSON
 * schema, with the sets of tokens that may follow in each state:
 *
 * <pre>
 *   RegularExpression ──► Expression ──► Nfa ──► ByteAutomaton ──► TokenConstraint ◄── TokenVocabulary
 *   JsonSchema ───────────────┘                                           │
 *                                                LogitRules ──► Sampler ◄─┘
 * </pre>
 */
@NotForApplications
@NullMarked
package io.github.iree4j.generation.sampling;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
