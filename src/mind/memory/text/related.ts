/**
 * Words that ask for each other: a question says "profession", the answer says "job"; a question says "pets", the answer "dog".
 * A catalogue of everyday English, used for questions only, at a lower weight than the words themselves: search by words then
 * bridges the commonest paraphrases without any vector.
 */
import { canonical } from "./analyse.ts";

/** Each line: words that may stand for one another. */
const ALIKE = `
job profession occupation career employment vocation living
job position role post
work job employer company workplace office
boss manager supervisor
colleague coworker teammate
hire recruit employ
fire dismiss layoff redundancy
resign quit leave
promotion promote raise
retire retirement pension
salary wage pay income earnings
money finance financial cash budget savings
expensive cost price dear afford
cheap bargain discount
loan mortgage debt
buy purchase order shop
sell sale
gift present
own possess belong
doctor physician gp medic clinic
dentist dental tooth teeth
nurse hospital ward
hospital clinic surgery operation surgeon
ill sick illness disease unwell
hurt injure injury wound accident
hurt break sprain twist fracture
pain ache sore
medicine medication pill drug prescription
allergy allergic intolerance
diet food eat nutrition
healthy health fitness
therapy therapist counseling counselor psychologist
stress anxiety anxious nervous worry
worry fear afraid scared concern
sad upset unhappy depressed grief
happy glad joy delighted pleased thrilled
angry mad furious
tired exhausted weary fatigue
proud pride
surprise astonished amazed shock
love adore
like enjoy fond favorite prefer
hate dislike detest loathe
baby newborn infant toddler
child kid son daughter
pregnant pregnancy expecting
birth born
parent mother father
spouse wife husband partner
sibling brother sister
relative family cousin aunt uncle
marry marriage wedding wed
engaged engagement propose fiance
divorce separate separation split
boyfriend girlfriend partner dating date
friend buddy pal mate friendship
die death dead pass funeral
home house apartment place
move relocate relocation
rent landlord tenant lease
room bedroom kitchen
furniture sofa couch table chair
garden yard backyard plant
neighbor neighborhood
city town hometown village
country nation homeland abroad
travel trip journey voyage
vacation trip travel
tour trip ride
flight plane airport fly
train railway station
car vehicle drive auto
bicycle cycle ride
boat ship sail ferry
road street highway
hike hiking trail walk trek
camp camping tent
beach sea coast shore ocean
mountain peak summit
forest wood tree
lake river pond
weather rain storm snow
hot warm heat
cold chilly freezing
school class lesson course
class course workshop lesson
teacher professor instructor tutor coach mentor
student pupil
study studies learn education
university degree graduate graduation campus
exam test grade result score
major subject field
law legal lawyer attorney
court judge trial
police officer crime thief
steal theft rob burglar
book novel read author
write writing writer author
publish publisher publication
story tale plot
poem poetry poet
music song tune melody
sing singer choir vocal
band concert gig show
instrument guitar piano violin
dance dancer ballet
film cinema watch
theater stage play acting actor
act actor role perform
perform performance show
art paint painting artist
draw drawing sketch
picture camera shoot photographer
museum gallery exhibition exhibit
game play player
video game console
sport exercise workout train training
run race marathon jog
swim pool
football soccer
match game tournament competition
compete competition contest championship
win victory prize award medal trophy
lose loss defeat
team club squad
hobby interest pastime activity
craft pottery knit sew
cook cooking recipe dish meal
bake baking bread cake
eat meal dinner lunch breakfast
restaurant cafe diner eatery
drink beverage coffee tea wine beer
dish recipe cuisine food
vegetarian vegan meat
hungry starving
dog puppy
cat kitten
pet animal
adopt adoption
rescue shelter
vet veterinarian
name call
nickname call
age old year
birthday born
begin start
start launch open
finish complete end
end stop over
continue keep
join enrol register sign
sign register signup enter
attend visit
visit go see
meet encounter
invite invitation guest
party celebration celebrate
celebrate mark anniversary
holiday christmas easter festival
help support assist aid
volunteer charity donate donation
donate give
give offer
offer proposal
ask request
answer reply respond
tell say mention
talk speak chat conversation discuss
call ring telephone
letter mail email post
message text
advice recommend suggestion suggest
recommend recommendation
decide decision choose choice
plan intend intention going
hope wish dream
goal aim ambition aspiration
want desire
need require
try attempt
fail failure
succeed success achieve achievement
problem trouble issue difficulty
wrong problem trouble fail
fix repair mend
break broken damage
build construct construction
create creation design
renovate renovation remodel restore
grow raise
change switch
improve better progress
inspire inspiration motivate
motivate motivation reason
reason why because
cause because reason
remember recall memory
forget remember
remind reminder
learn discover
find discover
realize notice
believe belief faith
religion church faith pray
feel feeling emotion
impression feel
think opinion
live stay reside
stay hotel hostel accommodation
arrive arrival reach
leave depart departure
return back
wait delay
late delay
early soon
often regular frequency
sometimes occasional
weekly week
daily day
color blue red green yellow black white brown purple pink orange
big large huge
small tiny little
long length duration last
far distance mile kilometer
tall height
heavy weight
fast quick speed
slow slowly
difficult hard tough challenge challenging
easy simple
important matter significant
special unique
strange weird odd
beautiful pretty lovely gorgeous
dirty mess clean
quiet calm peaceful
loud noise noisy
clothes dress wear outfit
shoes boots
jewelry ring necklace
hair haircut
computer laptop
internet online website
app software program
telephone mobile cell
business company startup shop store
shop store boutique
customer client
product goods
market sell
project undertaking
meeting appointment
event occasion
news announcement announce
community group
organization association nonprofit
government politics election
army military soldier
war conflict
science scientist research
research study investigate
nature wildlife outdoors
bird owl feather
flower rose bloom
fruit apple berry
sleep bed rest
dream nightmare
relax unwind rest
meditate meditation yoga
gym workout fitness
symbol represent mean
meaning mean symbolize
secret private
promise vow
lie truth
trust rely
miss lonely alone
together join
share split
lend borrow
collect collection
save keep rescue
protect safe safety
danger dangerous risk
destroy ruin
hide find
throw toss
cut slice
hang wall
hobby fun leisure
photo picture image photograph snapshot
painting canvas artwork mural portrait
sunset sunrise sky
cope handle manage deal
heal healing recover recovery rehab
support encourage encouragement
gender transgender trans queer lgbtq gay lesbian
pride parade lgbtq
rights equality activism activist campaign
fundraiser fundraise raise charity
veteran military army
reaction allergic
asthma inhaler
weight pound kilo
gaming gamer game
code coding programming programmer developer software
script screenplay movie film
audition role cast
boutique shop clothing
invest investor funding fund loan
startup founder entrepreneur business
internship intern
speech talk presentation lecture
blog post article
series show episode
movie film documentary
favorite best
ingredient recipe
sweet dessert
scenery view landscape
star meteor astronomy telescope
campfire camp
souvenir keepsake memento
heirloom keepsake inherit
necklace pendant bracelet jewelry
optimistic positive hopeful
grateful thankful appreciate thank
excited thrilled eager
disappointed let upset
brave courage courageous
strong strength
setback obstacle challenge struggle hardship
overcome conquer
habit routine
accident crash collision
leak pipe plumber flood
claim insurance
outage power electricity
engine garage mechanic restore
vintage antique classic
album record
lyrics song
audience crowd fan
sponsor endorsement deal brand
gear equipment
surf wave board
ski snowboard slope
kayak canoe paddle
climb boulder rock
breed labrador poodle shepherd retriever
aquarium tank fish
farm barn
horse pony stable
pastry bake croissant
refrigerator fridge freezer
employee staff worker
refund money pay
apartment flat studio
award nomination nominate
certificate diploma graduate
scholarship grant
apply application applicant
accept admit acceptance
interview apply
deadline due
translate translation translator
surgery operation operate
cast crutches broken
pregnant due baby
toddler crawl walk
grandparent grandma grandpa grandmother grandfather
stepmother stepfather
roommate flatmate
wave greet hello
argue argument fight quarrel
apologize sorry forgive
support group
therapy counselor session
`;

/** A kind, and what belongs to it. */
const KINDS = `
pet: dog cat puppy kitten rabbit hamster parrot turtle fish snake lizard guinea
animal: dog cat horse bird cow sheep owl fox bear deer turtle elephant
sport: football soccer basketball tennis volleyball hockey baseball swim run climb surf ski cycle yoga box golf rugby
exercise: run swim gym yoga cycle weight pilates jog walk
hobby: paint draw photography pottery knit garden cook bake read write dance sing climb chess guitar piano
instrument: guitar piano violin drum cello flute clarinet trumpet ukulele saxophone
relative: mother father sister brother aunt uncle cousin grandmother grandfather niece nephew
family: mother father sister brother son daughter wife husband grandmother grandfather child
furniture: sofa table chair desk shelf bed
vehicle: car truck van bus bicycle motorcycle
transport: car bus train bicycle plane
food: pizza pasta rice bread cheese soup salad cake fruit vegetable meat chicken curry
dessert: cake cookie pie chocolate cream pudding
dish: soup stew curry pasta salad rice dumpling pie
drink: coffee tea beer wine juice water
fruit: apple banana orange strawberry grape lemon peach
vegetable: tomato carrot potato bean pepper onion
meal: breakfast lunch dinner
season: spring summer autumn fall winter
weekday: monday tuesday wednesday thursday friday
country: france germany spain italy england canada japan china india mexico brazil australia america
city: london paris berlin york tokyo rome madrid boston chicago
language: english french spanish german italian chinese japanese portuguese arabic
profession: teacher nurse doctor lawyer engineer chef artist writer designer programmer scientist mechanic carpenter plumber
weather: rain snow storm sun wind fog
color: blue red green yellow black white brown purple pink orange gray gold silver
clothes: shirt dress jacket coat shoe hat sweater
genre: fantasy thriller romance mystery comedy drama jazz rock classical
art: painting drawing sculpture pottery photography
injury: broken sprain ankle knee wrist arm leg
body: arm leg knee ankle wrist back shoulder head hand foot
emotion: happy sad proud scared nervous excited relieved angry
feel: happy sad proud scared nervous excited relieved angry tired overwhelmed
allergy: nut peanut gluten dairy milk pollen shellfish
illness: flu cold cancer diabetes fever infection
machine: oven washer boiler printer engine
tool: hammer saw drill
plant: rose tomato basil tree herb
subject: mathematics history biology chemistry physics geography
degree: bachelor master doctorate
event: wedding party concert festival parade conference race
holiday: christmas easter thanksgiving halloween
`;

/** Every word, in its indexed form, with those that may answer for it. */
let table: Map<string, Set<string>> | undefined;

/** The words that may stand for this one, in their indexed form. */
export function relatedTo(word: string): readonly string[] {
  table ??= build();
  return [...(table.get(word) ?? [])];
}

function build(): Map<string, Set<string>> {
  const made = new Map<string, Set<string>>();
  const link = (from: string, to: string) => {
    if (from === to || !from || !to) return;
    const known = made.get(from);
    if (known) known.add(to);
    else made.set(from, new Set([to]));
  };
  for (const line of ALIKE.trim().split("\n")) {
    const words = line.split(" ").map(canonical);
    for (const from of words) for (const to of words) link(from, to);
  }
  for (const line of KINDS.trim().split("\n")) {
    const [kind = "", members = ""] = line.split(": ");
    for (const member of members.split(" ").map(canonical)) {
      link(canonical(kind), member);
      link(member, canonical(kind));
    }
  }
  return made;
}
