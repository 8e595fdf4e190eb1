/**
 * Text generation on programs with a paged cache of keys and values.
 *
 * <p>A {@link io.github.iree4j.generation.Generator} serves any number of requests with a program. Each request is a
 * <em>sequence</em> of tokens. The program's functions {@code prefill_bs{N}} and {@code decode_bs{N}} compute up to N
 * sequences in a call, a <em>step</em>: a prefill reads tokens of prompts, a decode reads a token of each sequence
 * and gives the next. Keys and values of earlier tokens are in <em>pages</em> of the cache; a page has the keys and
 * values of a fixed number of successive tokens, the <em>stride</em>.
 *
 * <pre>
 *   GenerationRequest ──► Generator ──► StepPlanner ──► Step ──► program
 *                             ▲          │  PagePool             │
 *                             │          ▼  PrefixTree           ▼
 *                         Sequence ◄── Sampler ◄────────────── Logits
 * </pre>
 *
 * <p>The choice of a token is in {@link io.github.iree4j.generation.sampling}.
 *
 * <p>The contract: the tokens of a request do not depend on other requests, on the prefixes kept in the cache, on
 * preemption, or on the time. A function computes the same bits for the same row only as far as the compiler made the
 * row independent of its neighbours and of shapes, so a generator measures the program ({@link
 * io.github.iree4j.generation.RowProbe}) and uses equal functions and shapes only.
 *
 * <p>The interface of programs is the interface of models exported by the sharktank project
 * (https://github.com/nod-ai/amd-shark-ai, {@code sharktank/examples/export_paged_llm_v1.py}).
 */
@NotForApplications
@NullMarked
package io.github.iree4j.generation;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
