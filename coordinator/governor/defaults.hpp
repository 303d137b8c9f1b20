#pragma once

#include "common/clock.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

/// The constants that tune the governor alone, with their reasons. Those that workers share stand in
/// common/defaults.hpp. The searches' were chosen by simulation: tests/properties/fleet_search_test.cpp
/// holds them to what they reach.
namespace sluice::defaults {

using namespace std::chrono_literals;

inline constexpr auto arrival_jitter = 20ms;     ///< Jitter of the time from a call's start to its arrival.
inline constexpr auto permit_clock_error = 1ms;  ///< What is left when the clock's bounds are kept: timers.
inline constexpr auto permit_lifetime = 100ms;   ///< A permit's window where the burst leaves room for it.
/// A window where it leaves none, and slots are spaced: each millisecond of it costs as much of the rate.
inline constexpr auto permit_lifetime_min = 5ms;
inline constexpr double rate_margin = 0.999;  ///< Of each rate, for clocks that run fast.
/// A permit is granted so long before it opens at most, with all that open until then: one message for
/// several calls. All that a dead worker can waste beside a permit's lifetime, and permit_patience.
inline constexpr auto permit_lookahead = 200ms;
inline constexpr auto grant_interval = 5ms;  ///< Gathers permits: 200 GRANTS a second and worker at most.
/// Who has not reported a permit so long after its end gets no more: above the workers' demand_delay and one
/// way over a network.
inline constexpr auto permit_patience = 250ms;
inline constexpr auto permit_regrant_min = 10ms;      ///< What must be left of a returned permit's window.
inline constexpr std::uint32_t breaker_failures = 5;  ///< In a row over the fleet: the breaker opens.
inline constexpr std::uint32_t breaker_sample = 20;   ///< Or half of so many ...
inline constexpr auto breaker_window = 10s;           ///< ... within this time.
inline constexpr auto breaker_refused_time = 5s;  ///< Or nothing answered but refusals for so long: a rate
                                                  ///< of less than one call in it is rare.
/// Of a pause so long the log says how long it is: one that seems to be a run that hangs.
inline constexpr BootTime noted_pause = 3s;
inline constexpr auto breaker_first_hold = 1s;         ///< Until the first probe, and the least between two.
inline constexpr std::int64_t breaker_hold_share = 4;  ///< Between probes a quarter of the outage so far: its
                                                       ///< end is noticed so late, and few calls are wasted.
inline constexpr auto breaker_max_hold = 15s;          ///< An outage's end is noticed so late at most.
inline constexpr auto probe_lifetime =
    5s;  ///< Of a probe's permit: the connection may have to be set up anew.
inline constexpr std::uint32_t search_first_places = 5;  ///< In flight until answers come, where no limit is
                                                         ///< known: few enough for any limit's burst.
inline constexpr std::uint32_t search_max_places = 512;  ///< A worker, when the number in flight is searched.

/// Of a limit that is set without burst_seconds: providers that name a minute's requests enforce them over a
/// second or less, and it costs nothing on a run of more than seconds.
inline constexpr double default_burst_seconds = 0.1;
/// Of tokens: a tenth would be less than most calls take, and providers count them by the minute.
inline constexpr double default_token_burst_seconds = 1;
/// A permit's window where nobody named the burst.
inline constexpr BootTime unnamed_burst_lifetime = 10ms;
inline constexpr double unnamed_spaced_share = 0.02;  ///< Or so much of the distance of spaced slots.
/// What calls vary on their way where that is measured: below it other delays count.
inline constexpr BootTime least_arrival_variation = 2ms;
/// A permit's window beyond what the worst informed worker does not know of the coordinator's clock.
inline constexpr BootTime lifetime_beyond_way = 3ms;
/// Far away, where a permit that is missed is missed for a round trip: what a process may be late to wake.
inline constexpr BootTime lifetime_beyond_long_way = 15ms;
/// Permits are granted no earlier than this, however far away a worker is: all that it can waste by dying.
inline constexpr BootTime longest_permit_lead = 1s;
inline constexpr BootTime place_turn = 1s;  ///< Workers that want one of too few places take turns so long:
                                            ///< a few calls each.
inline constexpr BootTime shared_places_interval = 200ms;  ///< How often a run looks whether others have left
                                                           ///< it places: as long as a short call.
inline constexpr BootTime widening_interval =
    100ms;  ///< Between steps of half as many places more, where the
            ///< rate has room and nobody set a number: a message's
            ///< way to the worker and back, and its calls' starts.
inline constexpr std::size_t max_retained_charges =
    1u << 15;  ///< A flood of charges that nobody settles must not
               ///< grow without bound, nor slow every replay.
/// A turn takes some 0.1 us a worker for each provider: beyond so many workers turns are so far apart for
/// each that they take a hundredth of a core, and never so far that a permit comes noticeably later.
inline constexpr std::size_t workers_without_gathering = 100;
inline constexpr BootTime turn_gathering = 10us;
inline constexpr BootTime longest_turn_gathering = 10ms;
inline constexpr BootTime breaker_sample_length = 100ms;  ///< Samples so close together are kept as one.
inline constexpr int hold_heartbeats = 3;  ///< Heartbeats that a worker may miss until it is lost: a hold of
                                           ///< unknown length is sent anew with each.
inline constexpr int report_heartbeats = 2;  ///< A worker that sends so long after a permit's end without a
                                             ///< report of it has lost the report.
inline constexpr double clearly_less = 0.9;  ///< What a search found is no more precise than this.
/// As long as a request may take (`ms` of docs/protocol.md): who reports more is wrong.
inline constexpr BootTime longest_latency = 366 * 24h;

/// The search for the number of calls in flight.
namespace concurrency_search {

/// The opening ends when answers take so much longer than the first ones: twice the calls would bring less
/// than a quarter more answers.
inline constexpr double longer_when_queued = 1.6;
/// Fewer calls are tried when answers take so much longer.
inline constexpr double longer_when_queue_is_short = 1.2;
/// Standard errors: what is beyond so many is no chance, and what is within so many likely is.
inline constexpr double errors_beyond_chance = 3;
inline constexpr double errors_likely = 1;
/// What one latency varies by, as a share of the mean, until answers say more than so many of them would.
inline constexpr double guessed_variation = 0.5;
inline constexpr double answers_of_guess = 4;
inline constexpr double variation_of_like_answers = 0.4;
/// Fewer answers than this say little of a latency; up to so many as there were calls in flight are waited
/// for, since answers differ in length, and beyond that a quarter of them.
inline constexpr std::uint64_t fewest_latencies = 8;
inline constexpr std::uint64_t enough_latencies = 32;
/// Of what a step up brings without a queue it must bring so much, and so much a step down may cost. Too many
/// calls only wait: the number is rather too large than too small.
inline constexpr double gain_of_step = 0.35;
inline constexpr double loss_of_step = 0.15;
/// Where calls wait for no other a step up brings f, and a step down costs it: so much of it shows that.
inline constexpr double gain_without_queue = 0.7;
inline constexpr double clear_loss_of_step = 0.6;
/// The throughput of a step is measured until its standard error is so much of what the step can bring.
inline constexpr double error_of_step = 0.2;
/// A step is so large a share of the number as its answers, no more than a few times the number, can show.
inline constexpr double share_by_variation = 2.8;
inline constexpr double smallest_step = 0.125;
/// Fewer answers than this say little of a throughput.
inline constexpr std::uint64_t smallest_window = 16;
/// Of a number that is kept, the answers of so many windows count.
inline constexpr std::uint64_t windows_remembered = 8;
/// After two steps in vain the number stays for so many windows, and twice as many the next time.
inline constexpr std::uint32_t first_rest = 16;
inline constexpr std::uint32_t longest_rest = 128;
/// Beside the knee that Little's law names: a queue of a tenth keeps the provider busy.
inline constexpr double room_over_knee = 1.1;
/// What is left of the number when most calls of two windows failed: below twice what a server takes.
inline constexpr double after_failures = 0.7;
/// Failures that so many answers have followed are no outage's.
inline constexpr std::uint64_t answers_to_forget = 50;

}  // namespace concurrency_search

/// What two refusals that name delays say of a limit.
namespace limit_estimate {

/// Fewer refused calls without an answer may be those of a small bucket at a pace that is too quick.
inline constexpr double refusals_at_closed_door = 3;

/// Below it the way of the messages decides.
inline constexpr BootTime shortest_episode = 20ms;
/// Calls that start so close together are kept as one, and so many of these.
inline constexpr BootTime same_start = 5ms;
inline constexpr std::size_t starts_remembered = 2000;
/// An opening becomes quicker: its speed is that of its last part.
inline constexpr BootTime speed_time = 150ms;
/// Rates between which nothing decides are one if they differ by no more.
inline constexpr double other_rate = 1.5;
inline constexpr int rates_tried = 60;
/// Numbers of calls that differ by less are the same, at speeds that differ by more.
inline constexpr double same_number = 0.12;
inline constexpr double other_speed = 1.2;
inline constexpr double calls_of_a_window = 15;
/// Fewer are those of a window as well, where a bucket would have had so many more in the longer episode.
inline constexpr double clearly_more = 2.5;
/// Of several runs: what a bucket gains in less time is lost among the calls that are told late.
inline constexpr BootTime clearly_longer = 50ms;
inline constexpr BootTime window = 1s;
/// The same, and a little for the way.
inline constexpr BootTime delay_of_a_window = 1100ms;
/// Starts that were heard of after more time than this lie somewhere in it, or are not all: with too many of
/// them an episode says little.
inline constexpr BootTime told_late = 100ms;
/// Calls of other runs are not looked for further before this run's first ones.
inline constexpr BootTime earlier_begin = 100ms;
inline constexpr double few_told_late = 0.3;
inline constexpr double few_beside = 0.05;  ///< Of what the rate gives in the other episode.
/// A window takes as many calls each time. Other numbers are not its, if a bucket of so much more than its
/// rate, tried in such steps, has the same size after both episodes.
inline constexpr double exactly_same = 1.2;
inline constexpr double higher_rate = 1.5;
inline constexpr double next_rate = 1.05;
inline constexpr double same_size = 0.5;
/// A delay below it was not rounded up to seconds. So many times the calls that it leaves room for are beyond
/// what may be counted wrongly.
inline constexpr BootTime exact_delay = 950ms;
inline constexpr double clearly_beyond = 2;
/// What was answered in less time than this is a burst's.
inline constexpr BootTime shortest_of_a_rate = 100ms;
/// A pause left the bucket this empty.
inline constexpr double not_full = 0.85;
/// What may be counted to the wrong episode.
inline constexpr double calls_counted_wrongly = 1.5;

}  // namespace limit_estimate

/// When calls are refused for the number in flight.
namespace in_flight_limit {

/// So many refusals, one fewer of calls that are not few, at about as many calls in flight; of which one came
/// at so many times another's pace, after so many times as many calls.
inline constexpr std::size_t refusals_that_show = 3;
inline constexpr std::uint64_t few_calls = 4;
inline constexpr double share_of_doubt = 0.03;
inline constexpr double different_pace = 1.2;
inline constexpr double different_calls = 1.5;
/// Or all of so many, whatever their pace, if the calls are so many.
inline constexpr std::size_t refusals_remembered = 4;
inline constexpr std::uint64_t many_calls = 10;
/// Of answers that differ so much in length, by the newest of them.
inline constexpr double least_variation = 0.2;
inline constexpr double fewest_answers = 25;
inline constexpr double answers_remembered = 200;
/// As many as may be in flight are there at any refusal: beyond so many of them they show nothing.
inline constexpr double share_of_places = 0.9;
/// What more workers have in flight is not known at one time.
inline constexpr std::size_t most_workers = 4;
/// What the number brings is compared with what was taken before, each over so long.
inline constexpr BootTime shortest_flow = 300ms;
inline constexpr BootTime time_to_compare = 1s;
inline constexpr std::uint64_t answers_to_compare = 10;
inline constexpr double least_of_speed = 0.9;
inline constexpr double share_of_contradiction = 0.12;
/// Refusals so soon after another one are of the same calls.
inline constexpr BootTime come_together = 150ms;
/// Calls that are refused all the same show that it was not the number: the second time, or where clearly
/// fewer are in flight. So many answers for each of its places forgive one.
inline constexpr std::uint32_t most_in_vain = 1;
inline constexpr std::uint64_t answers_that_forgive = 20;
/// A sixteenth more, at least one, is tried after so long, and after twice as long each time that it was
/// refused.
inline constexpr BootTime first_hold = 20s;
inline constexpr BootTime longest_hold = 10min;

}  // namespace in_flight_limit

/// When a rate that was found is left to later runs.
namespace rate_proof {

/// Of so many calls, over so long, at rates that differ by no more.
inline constexpr double fewest_calls = 20;
inline constexpr BootTime shortest_time = 1s;
inline constexpr double same_rate = 0.2;
/// What was answered must come to so much of it. Pauses, and the bucket at the beginning, are the rest.
inline constexpr double least_share = 0.7;
/// Where so much was refused no limit was found.
inline constexpr double refuted_share = 0.4;
/// So much more than the rate that was found, taken in so much time of late, shows a higher one: a bucket was
/// empty when it was found, or the limit was raised.
inline constexpr double share_of_higher_rate = 1.15;
inline constexpr BootTime time_of_higher_rate = 5s;
inline constexpr BootTime between_marks = 250ms;
/// Pauses of so much of the time, and so long, are those of windows.
inline constexpr double share_of_windows = 0.75;
inline constexpr BootTime shortest_of_windows = 150s;

}  // namespace rate_proof

/// The search that several runs share.
namespace shared_search {

inline constexpr BootTime repeated_after = 500ms;  ///< That a run is there which leads.
inline constexpr BootTime patience = 2s;           ///< One that was silent for so long leads no more.
inline constexpr double same_rate = 0.005;         ///< A change of less is not told at once.
inline constexpr BootTime calls_wait = 300ms;      ///< Those of another run, after it said so: a few reports,
inline constexpr double calls_wait_for = 3;        ///< or so many calls.
/// Who had no call to make for so long leads no more: a leader that only waits for its last answer looks
/// seldom.
inline constexpr BootTime leads_without_calls = 1500ms;
inline constexpr BootTime guesses_without_calls = 500ms;  ///< With a rate of which nothing is accepted yet.

}  // namespace shared_search

/// The search for a rate that nobody named.
namespace rate_search {

/// Short beside everything that is measured, so that windows need not fit the bins.
inline constexpr BootTime bin_length = 50ms;
/// What was accepted is counted over this long: above a burst's own time at most limits, below the time that
/// the doublings take. At low rates over so many calls, as far as the memory goes.
inline constexpr BootTime measured_time = 750ms;
/// After doublings over less: a longer time began far below.
inline constexpr BootTime measured_in_doubling = 250ms;
inline constexpr double calls_in_doubling = 8;
inline constexpr double measured_calls = 20;
inline constexpr BootTime longest_measured_time = 12s;
inline constexpr double fewest_measured = 5;
/// The first calls are a burst: over less time than this they say nothing of a rate.
inline constexpr BootTime first_measured_time = 500ms;
/// Refusals so soon after a cut are those of calls that began before workers knew of it.
inline constexpr BootTime stale_time = 150ms;
/// Refusals weigh by their share of what started of late, beyond what is refused at any rate; of the first of
/// these times in which there were calls enough.
inline constexpr std::array<BootTime, 3> weighed_times = {500ms, 2s, 10s};
inline constexpr double weighed_calls = 20;
inline constexpr double weighty_share = 0.05;
inline constexpr double weighty_share_of_doubling = 0.15;
/// One refusal is none.
inline constexpr double fewest_refusals = 2;
/// So long after a cut the rate stays at half, or until enough calls were made: what is refused then is not
/// the rate's.
inline constexpr BootTime half_time = 400ms;
inline constexpr BootTime longest_half_time = 5s;
/// It begins where no longer so many of all calls since the cut are refused.
inline constexpr double closed_share = 0.6;
/// It is kept for as many calls as would bring so many refusals, if those came by chance; within these
/// bounds.
inline constexpr double refusals_to_tell = 2.5;
inline constexpr double calls_at_half = 16;
inline constexpr double most_calls_at_half = 60;
inline constexpr double calls_remembered = 200;
/// What is answered at half the rate is as much as before from this share of it, counted over so many calls.
inline constexpr double as_much = 0.9;
inline constexpr double calls_to_compare = 8;
/// One answer between two pauses is half of the calls.
inline constexpr double share_between_pauses = 0.4;
/// No provider refuses more than this at any rate.
inline constexpr double most_of_background = 0.5;
/// Where more is refused it is for the rate, or the provider takes no calls: half is kept for so many alone.
inline constexpr double calls_at_closed_door = 10;
/// Where no more than this is refused at half the rate, a later cut goes to just below what was accepted: the
/// rate is to blame. Not if it follows the last cut within so many calls.
inline constexpr double most_of_chance = 0.04;
inline constexpr double calls_of_a_row = 20;
inline constexpr BootTime usual_window = 1s;  ///< Nor within the window that most limits count by.
/// Nor if less than this share is accepted of what half was tried of.
inline constexpr double trusted_share = 0.8;
/// What was accepted between refusals is known from so much of it.
inline constexpr BootTime shortest_between_refusals = 300ms;
inline constexpr double fewest_between_refusals = 8;
/// Of a pace that grew slowly until it was refused; unless so much less was accepted.
inline constexpr double found_growing = 0.98;
inline constexpr double close_to_the_pace = 0.8;
/// A later cut lowers the accepted rate by no more than this: that of one cut may be bad luck.
inline constexpr double least_of_accepted = 0.85;
/// While more than this share is refused beyond the background, the slow growth rests.
inline constexpr double resting_share = 0.01;
/// After the first cut, which says little: a hundredfold takes three seconds.
inline constexpr double doubling_seconds = 0.4;
/// As it was before the first cut: so far beyond what was accepted last, without refusals, there is no limit.
inline constexpr double beyond_limit = 1.25;
/// From half back to just below what was accepted.
inline constexpr double return_seconds = 0.5;
inline constexpr double just_below = 0.95;
/// Of the accepted rate, a second; steeper the longer nothing was refused, for limits that were raised.
inline constexpr double slow_growth = 0.02;
inline constexpr double steeper_after_seconds = 5;
inline constexpr double rough_growth = 0.15;  ///< While what was accepted is roughly known.
/// The same where calls are refused whatever the rate: cuts were bad luck.
inline constexpr double regrowth = 0.2;
/// A call in 50 s: a provider that takes less is not worth a run.
inline constexpr double lowest_rate = 0.02;
/// Where nothing was ever accepted: few enough for any limit to see whether it takes calls again.
inline constexpr double first_rate_in_vain = 1.0;
/// Beyond what any fleet makes: keeps the numbers finite.
inline constexpr double highest_rate = 1e6;
/// Less than this share in this time is not the rate's full use; the doublings alone leave two thirds.
inline constexpr BootTime used_time = 500ms;
inline constexpr double used_share = 0.5;
inline constexpr double calls_of_doubt = 2;
/// A time in which nobody looked is no time in which the rate was used.
inline constexpr BootTime longest_step = 100ms;
/// As many as fit into what is measured, at pauses of a fifth of a second.
inline constexpr std::size_t pauses_remembered = 64;
/// Refusals that name a delay from here on cost more than what they show: each ends an episode
/// (LimitEstimate).
inline constexpr BootTime costly_pause = 250ms;
/// A longer window that is spent again after fewer calls is no other limit than the rate's.
inline constexpr double calls_between_windows = 50;
/// Of the speed that was refused: slow enough to tell a bucket's rate, fast enough to be refused again.
inline constexpr double next_speed = 0.7;
/// Of an estimate: it is a few hundredths wrong.
inline constexpr double below_estimate = 0.97;
/// A refusal at an estimate lowers it by so much. Its burst stays: where calls vary on their way, the
/// distances of a smaller one would cost more than the rate is too high by.
inline constexpr double after_refusal_share = 0.94;
/// An estimate is held so many of its pauses long before it grows: what the next refusal costs, it gains.
inline constexpr double pauses_held = 15;
inline constexpr double growth_of_estimate = 0.03;  ///< A second, from then on,
/// and after so long without a refusal more and more: the limit was raised, or the estimate was far off. What
/// an earlier run found has taken a full hold without one: it grows sooner.
struct Growth {
  double steady_seconds = 5;
  double doubles_in_seconds = 4;
};
inline constexpr Growth growth_of_found;
inline constexpr Growth growth_of_remembered{2, 2};
inline constexpr double most_growth = 0.5;
/// A rate that has grown by more than this was held too low: the next estimate is no older one's proof.
inline constexpr double much_more = 1.15;
/// What an earlier run found is held as if a refusal cost a second: each that it provokes is one too many.
inline constexpr double hold_of_remembered = 4;
/// One that was found so long ago is held for less: limits are raised from time to time.
inline constexpr BootTime outdated_after = 1h;
inline constexpr double hold_of_outdated = 0.5;
/// From here on a delay may have been rounded up to seconds.
inline constexpr BootTime rounded_delay = 950ms;
/// A speed that is not refused for so long is below the limit.
inline constexpr BootTime proof_of_speed = 1s;
inline constexpr std::int64_t pause_of_proofs = 4;  ///< Or a quarter of a pause: what it would cost.
inline constexpr double longest_leap = 2;           ///< From one that was proved to the next.
/// A bucket of fewer calls says little of a rate, nor does one of a few more that was emptied at once.
inline constexpr double calls_to_trust = 5;
inline constexpr double calls_of_a_burst = 15;
inline constexpr double shortest_of_a_speed = 0.1;  ///< Seconds.
/// Of the rate that an episode needed at least: what was counted may be a call off.
inline constexpr double trusted_proof = 0.9;
/// Between a speed that was refused and one that was not no further one is tried.
inline constexpr double close_enough = 1.35;
inline constexpr double close_enough_where_dear = 1.5;
inline constexpr BootTime dear_pause = 5s;
/// Before the second refusal, while none comes: the second speed was none.
inline constexpr double growth_of_second = 0.7;
/// The same where the first refusal said nothing: twice as fast every half a second.
inline constexpr double growth_of_ramp = 1.4;
/// Bounds of what such a speed says when it is refused, by which their middle is taken.
inline constexpr double good_enough = 2;
/// An estimate that is less certain than this is held for a part of that time only.
inline constexpr double well_known = 1.35;
inline constexpr double hold_of_doubt = 0.2;
inline constexpr double hold_of_estimate = 0.6;  ///< Of two episodes that were different enough,
inline constexpr double wide = 4;                ///< unless it may be so many times as much.
/// A burst of more than this is worth to be used at once after a pause.
inline constexpr double burst_worth_seconds = 2;
/// Refusals at an estimate within so many pauses of each other lower it the more, up to the fifth.
inline constexpr double pauses_of_a_row = 8;
inline constexpr std::uint32_t most_in_a_row = 4;
/// The known rate is taken for the true one after so long at it without a cut.
inline constexpr double proof_seconds = 2;

}  // namespace rate_search

}  // namespace sluice::defaults
